-- A timeline is read as a whole, so it has one row per call instead of a row and two index entries per line.
CREATE TABLE call_timeline (
  number INTEGER PRIMARY KEY REFERENCES cdr (number) ON DELETE CASCADE,
  ended_us INTEGER NOT NULL,
  lines TEXT NOT NULL
) STRICT;
INSERT INTO call_timeline (number, ended_us, lines)
  SELECT c.number, c.end_us,
      json_group_array(
        json_object('atUs', l.at_us, 'kind', l.kind, 'text', l.text, 'facts', json(l.detail))
        ORDER BY l.at_us, l.id
      )
    FROM call_log l
    JOIN cdr c ON c.call_uuid = l.call_uuid
    GROUP BY c.number;
DROP TABLE call_log;
