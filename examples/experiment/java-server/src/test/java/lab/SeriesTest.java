package lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import lab.json.Json;
import org.junit.jupiter.api.Test;

class SeriesTest {
    @Test
    void itFollowsFromTheSeed() {
        var found = Series.of(1, 3, 0, 99);
        // 1,103,527,590; 377,401,575 and 662,824,084, as ISO C's generator has them.
        assertEquals(List.of(90L, 75L, 84L), found.get("values"));
        assertEquals(List.of(75L, 84L, 90L), found.get("rising"));
        assertEquals(List.of(90L, 84L, 75L), found.get("falling"));
        assertEquals(83L, found.get("mean"));
    }

    @Test
    void theResponseOfTheLabHasItsLength() {
        for (String parser : List.of("own", "gson")) {
            String text = Json.named(parser).write(Series.of(1_234_567, 196, 1_000_000, 9_999_999));
            assertEquals(4_754, text.length());
        }
    }

    @Test
    void whatCannotBeIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> Series.of(1, 0, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> Series.of(1, 1_000_000, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> Series.of(1, 1, 2, 1));
    }
}
