import type { Logger } from '../../base/logger.ts';
import type { BindingStore, EndpointDirectory } from '../../domain/registration/needs.ts';
import type { UserAgentInput, UserAgentOutput } from '../../protocol/sip/sip.ts';

/** Answers the user agent's questions about users and their bindings from directory and store. */
export class UserDirectory {
  readonly #directory: EndpointDirectory;
  readonly #bindings: BindingStore;
  readonly #logger: Logger;
  readonly #tell: (input: UserAgentInput) => void;

  constructor(
    directory: EndpointDirectory,
    bindings: BindingStore,
    logger: Logger,
    tell: (input: UserAgentInput) => void,
  ) {
    this.#directory = directory;
    this.#bindings = bindings;
    this.#logger = logger;
    this.#tell = tell;
  }

  find(id: number, username: string): void {
    this.#directory.byUsername(username).then(
      (endpoint) => {
        const secrets = endpoint && {
          MD5: endpoint.secrets.md5,
          'SHA-256': endpoint.secrets.sha256,
          'SHA-512-256': endpoint.secrets.sha512256,
          inactive: !endpoint.active,
        };
        this.#tell({ kind: 'secret', id, secrets });
      },
      (error: unknown) => {
        this.#logger.error({ err: error }, 'endpoint directory failed');
        this.#tell({ kind: 'secret', id, secrets: 'unavailable' });
      },
    );
  }

  store({ id, save, remove }: Extract<UserAgentOutput, { kind: 'store' }>): void {
    const work = Promise.all([
      ...save.map((binding) => this.#bindings.save(binding)),
      ...remove.map(({ username, contactUri }) => this.#bindings.remove(username, contactUri)),
    ]);
    work.then(
      () => this.#stored(id, true),
      (error: unknown) => {
        this.#logger.error({ err: error }, 'bindings could not be stored');
        this.#stored(id, false);
      },
    );
  }

  #stored(id: number | undefined, ok: boolean): void {
    if (id !== undefined) this.#tell({ kind: 'stored', id, ok });
  }
}
