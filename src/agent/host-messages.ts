/** Messages between the service and the process of the agents. */

/** Requests the agent with this definition. */
export interface HostRequest {
  readonly id: number;
  /** Application ID, a space, and the version of its definition. */
  readonly key: string;
  /** JSON without secrets. */
  readonly definition: string;
  /** Public URL of the agent. */
  readonly url: string;
}

export type HostReply =
  | { readonly id: number; readonly port: number; readonly password: string }
  | { readonly id: number; readonly error: string };
