-- Definition of the agent that answers the calls of an application, as JSON without secrets. NULL: a document answers.
ALTER TABLE application ADD COLUMN agent TEXT;
