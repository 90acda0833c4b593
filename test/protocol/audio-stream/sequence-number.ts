/** Offset of the ten spaces that the socket's owner replaces with the sequence number. */
export const SEQUENCE_NUMBER_OFFSET = '{"sequenceNumber":'.length;
