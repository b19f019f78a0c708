package lab;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NotesTest {
    @Test
    void eachThreadReadsItsOwnNote() throws Exception {
        ExecutorService workers = Executors.newFixedThreadPool(10);
        try (Notes notes = new Notes()) {
            List<Callable<String>> all = IntStream.range(0, 500)
                    .mapToObj(i -> (Callable<String>) () -> notes.store("user", "note " + i)).toList();
            var found = workers.invokeAll(all);
            for (int i = 0; i < found.size(); i++) {
                assertEquals("note " + i, found.get(i).get());
            }
        } finally {
            workers.shutdown();
        }
    }
}
