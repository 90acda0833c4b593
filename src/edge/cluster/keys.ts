/** Names of the Redis keys that nodes share. */
export const keyOf = (key: string): string => `carillon:${key}`;

/** Heartbeat key of a node. It expires when heartbeats stop. */
export const receivedKey = (nodeId: string): string => keyOf(`hb:${nodeId}`);
