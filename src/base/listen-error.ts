/** Why a port cannot be listened on, in one line that says what to do. */
import { ServiceError } from './errors.ts';

/** What an operator can change about it. */
export interface ListenPlace {
  /** As people call it: `SIP port TLS`. */
  readonly what: string;
  readonly host: string;
  readonly port: number;
  /** Environment variables. */
  readonly portSetting: string;
  readonly hostSetting: string;
  /** Its port may be 0: none. */
  readonly isOptional?: boolean;
}

/** `code`: of the system, as `EADDRINUSE`. */
export function listenProblem(code: string, place: ListenPlace): string {
  const { what, host, port, portSetting, hostSetting, isOptional } = place;
  const orNone = isOptional === true ? ', or to 0 for none' : '';
  const at = `${what} ${host}:${port}`;
  switch (code) {
    case 'EADDRINUSE':
      return `${at} is in use by another program; set ${portSetting} to a free one${orNone}`;
    case 'EACCES':
      return `${at} may not be opened by this user: ports below 1024 need CAP_NET_BIND_SERVICE, which the unit of carillon install has; or set ${portSetting} to a higher one${orNone}`;
    case 'EADDRNOTAVAIL':
      return `${at} cannot be opened: ${host} is no address of this machine; set ${hostSetting} to one (ip address), or to 0.0.0.0 for all`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${at} cannot be opened: ${host} is not known to the name servers; set ${hostSetting} to an address of this machine`;
    default:
      return `${at} cannot be opened (${code}); see ${portSetting} and ${hostSetting}`;
  }
}

/** The same as an error that ends the start, or leaves the port out. */
export function listenError(cause: unknown, place: ListenPlace): ServiceError {
  const { code, message } = cause as NodeJS.ErrnoException;
  return new ServiceError('PORT_IN_USE', listenProblem(code ?? message, place), { cause });
}
