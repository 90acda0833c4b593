/** Host form of an IP address or name: IPv6 in brackets, others unchanged. */
export const bracketed = (address: string): string =>
  address.includes(':') && !address.startsWith('[') ? `[${address}]` : address;

/** Reverse of `bracketed`: an IPv6 address without its brackets. */
export const unbracketed = (host: string): string =>
  host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
