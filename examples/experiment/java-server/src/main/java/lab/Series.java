package lab;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Numbers that follow from a seed, as they come, rising and falling. */
final class Series {
    private static final long MAX_SIZE = 10_000;

    private Series() {}

    static Map<String, Object> of(long seed, long size, long min, long max) {
        if (size < 1 || size > MAX_SIZE || min > max) {
            throw new IllegalArgumentException("expected a size from 1 to " + MAX_SIZE + ", and min up to max");
        }
        List<Long> values = new ArrayList<>((int) size);
        long state = seed;
        long sum = 0;
        for (long i = 0; i < size; i++) {
            // The generator of ISO C's example of `rand`.
            state = (state * 1_103_515_245L + 12_345L) & 0x7fff_ffffL;
            long value = min + state % (max - min + 1);
            values.add(value);
            sum += value;
        }
        List<Long> rising = new ArrayList<>(values);
        Collections.sort(rising);
        List<Long> falling = new ArrayList<>(rising);
        Collections.reverse(falling);
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("values", values);
        found.put("rising", rising);
        found.put("falling", falling);
        found.put("mean", sum / size);
        return found;
    }
}
