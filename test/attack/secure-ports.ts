/** Ports of the service for transports without a default port. */
export const SECURE_PORTS = { tls: 25_461, ws: 25_466 };
