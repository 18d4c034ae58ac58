package dev.tracegen.example

import androidx.room.Dao
import androidx.room.Database
import androidx.room.Entity
import androidx.room.Insert
import androidx.room.PrimaryKey
import androidx.room.Query
import androidx.room.RoomDatabase

/** A row. */
@Entity
data class Note(@PrimaryKey val id: Long, val text: String)

/** Room makes a class of it. */
@Dao
interface NoteDao {
    @Insert
    fun add(notes: List<Note>)

    @Query("SELECT * FROM Note WHERE text LIKE :part")
    fun find(part: String): List<Note>
}

/** The database. */
@Database(entities = [Note::class], version = 1, exportSchema = false)
abstract class Notes : RoomDatabase() {
    abstract fun notes(): NoteDao
}
