/** Names of what nodes share in Redis. */
export const keyOf = (key: string): string => `carillon:${key}`;

/** Is there while the node is heard of. */
export const heardKey = (nodeId: string): string => keyOf(`hb:${nodeId}`);
