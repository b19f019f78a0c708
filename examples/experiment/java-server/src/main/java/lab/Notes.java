package lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** Notes of users in an SQLite database, in a file of its own that is gone at the end. */
final class Notes implements AutoCloseable {
    /** SQLite has one writer at a time, whoever waits; not {@code synchronized}, which pins virtual threads before Java 24. */
    private final Lock lock = new ReentrantLock();
    private final Path folder;
    private final Connection connection;
    private final PreparedStatement insert;
    private final PreparedStatement select;

    Notes() throws SQLException, IOException {
        folder = Files.createTempDirectory("notes-");
        connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("notes.db"));
        try (var statement = connection.createStatement()) {
            statement.execute("PRAGMA journal_mode = WAL");
            statement.execute("PRAGMA synchronous = NORMAL");
            statement.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, user TEXT NOT NULL, text TEXT NOT NULL)");
        }
        insert = connection.prepareStatement("INSERT INTO notes (user, text) VALUES (?, ?)");
        select = connection.prepareStatement("SELECT text FROM notes WHERE id = last_insert_rowid()");
    }

    /** Stores a note, and returns its text as the database has it. */
    String store(String user, String text) throws SQLException {
        lock.lock();
        try {
            insert.setString(1, user);
            insert.setString(2, text);
            insert.executeUpdate();
            try (ResultSet found = select.executeQuery()) {
                found.next();
                return found.getString(1);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() throws SQLException, IOException {
        lock.lock();
        try {
            connection.close();
            try (var files = Files.list(folder)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(folder);
        } finally {
            lock.unlock();
        }
    }
}
