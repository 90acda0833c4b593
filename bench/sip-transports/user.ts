/** Credentials of every user of the measured service. */
export const REALM = 'bench';
export const PASSWORD = 'secret';
