CREATE TABLE IF NOT EXISTS account (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL COLLATE NOCASE,
  balance REAL DEFAULT (0.0) CHECK (balance >= 0),
  "opened on" TEXT DEFAULT CURRENT_TIMESTAMP,
  kind TEXT GENERATED ALWAYS AS (CASE WHEN balance > 1e6 THEN 'large' ELSE 'small' END) STORED,
  UNIQUE (owner, kind) ON CONFLICT REPLACE,
  FOREIGN KEY (owner) REFERENCES person (name) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE UNIQUE INDEX by_owner ON account (lower(owner) DESC, id) WHERE balance IS NOT NULL;
CREATE TRIGGER audit AFTER UPDATE OF balance ON account FOR EACH ROW WHEN new.balance <> old.balance
BEGIN
  INSERT INTO log (account, change) VALUES (new.id, new.balance - old.balance);
  UPDATE account SET "opened on" = datetime('now') WHERE id = old.id;
END;
-- Names that are key words elsewhere
SELECT key, end.action, [order] FROM "group" AS end WHERE plan GLOB '*x*' ESCAPE '\';
WITH t(n) AS MATERIALIZED (VALUES (1), (2) UNION ALL SELECT n + 1 FROM t LIMIT 5)
SELECT n, sum(n) FILTER (WHERE n % 2) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) AS running,
  first_value(n) OVER w, data ->> '$.a[0]', x'1F', ?1, :name, @v, $p
FROM t LEFT JOIN json_each(:list) USING (n) WINDOW w AS (PARTITION BY n / 2) ORDER BY 1 DESC NULLS LAST;
INSERT OR IGNORE INTO account (owner, balance) SELECT name, 10.5 FROM person WHERE name LIKE 'A%'
  ON CONFLICT (owner) DO UPDATE SET balance = excluded.balance + 1 WHERE account.balance < 5 RETURNING id, *;
DELETE FROM account INDEXED BY by_owner WHERE id IN (SELECT id FROM account EXCEPT SELECT account FROM log) RETURNING id;
PRAGMA foreign_keys = ON;
BEGIN IMMEDIATE; SAVEPOINT one; ROLLBACK TO one; COMMIT;
ALTER TABLE account RENAME COLUMN kind TO size; EXPLAIN QUERY PLAN SELECT 1 IS NOT DISTINCT FROM NULL, -- end
 NOT a AND b BETWEEN 1 AND 2 OR c COLLATE binary || 'it''s' ISNULL;
