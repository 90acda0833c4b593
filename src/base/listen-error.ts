/** Explains in one line why a port cannot be opened and how to fix it. */
import { ServiceError } from './errors.ts';

/** A listener and the settings that control it. */
export interface ListenPlace {
  /** Display name, such as `SIP port TLS`. */
  readonly what: string;
  readonly host: string;
  readonly port: number;
  /** Environment variables of the port and the host. */
  readonly portSetting: string;
  readonly hostSetting: string;
  /** True if port 0 disables the listener. */
  readonly isOptional?: boolean;
}

/** Returns the explanation. `code` is a system error code such as `EADDRINUSE`. */
export function listenProblem(code: string, place: ListenPlace): string {
  const { what, host, port, portSetting, hostSetting, isOptional } = place;
  const orNone = isOptional === true ? ', or to 0 for none' : '';
  const at = `${what} ${host}:${port}`;
  switch (code) {
    case 'EADDRINUSE':
      return `${at} is in use by another program; set ${portSetting} to a free one${orNone}`;
    case 'EACCES':
      return `${at} cannot be opened by this user: ports below 1024 need CAP_NET_BIND_SERVICE, which the systemd unit of \`carillon install\` grants; or set ${portSetting} to a higher port${orNone}`;
    case 'EADDRNOTAVAIL':
      return `${at} cannot be opened: ${host} is not an address of this machine; set ${hostSetting} to one (ip address), or to 0.0.0.0 for all`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${at} cannot be opened: ${host} is not known to the name servers; set ${hostSetting} to an address of this machine`;
    default:
      return `${at} cannot be opened (${code}); see ${portSetting} and ${hostSetting}`;
  }
}

/** Returns the explanation as an error. */
export function listenError(cause: unknown, place: ListenPlace): ServiceError {
  const { code, message } = cause as NodeJS.ErrnoException;
  return new ServiceError('PORT_IN_USE', listenProblem(code ?? message, place), { cause });
}
