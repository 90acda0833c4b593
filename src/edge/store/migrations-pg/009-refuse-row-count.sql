-- Called by a statement that changed an unexpected number of rows. The error ends the transaction; its SQLSTATE names the cause.
CREATE FUNCTION refuse_row_count(rows BIGINT) RETURNS INTEGER LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'a statement changed % rows', rows USING ERRCODE = 'ZR001'; END $$;
