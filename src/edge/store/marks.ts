/** Setting that says that the process which held the database did not close it. */
export const OPEN_MARK = 'store.open';

/** Setting that a check writes. */
export const PROBE = 'store.probe';
