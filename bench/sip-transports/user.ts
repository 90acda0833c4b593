/** Of every user of the service that is measured. */
export const REALM = 'bench';
export const PASSWORD = 'secret';
