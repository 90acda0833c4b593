/** Setting that exists while a process has the database open. It remains after an unclean stop. */
export const OPEN_MARK = 'store.open';

/** Setting of a database file whose pages have checksums. */
export const CHECKSUM_MARK = 'store.checksums';

/** Setting that exists from an erasure of personal data until the database file is rewritten. */
export const ERASURE_MARK = 'store.erasure';

/** Setting that a disk check writes. */
export const PROBE = 'store.probe';
