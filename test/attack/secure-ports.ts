/** Where the service listens for what has no port by itself. */
export const SECURE_PORTS = { tls: 25_461, ws: 25_466 };
