import { ServiceError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { BindingStore, EndpointDirectory } from '../../domain/registration/needs.ts';
import type { UserAgentInput, UserAgentOutput } from '../../protocol/sip/sip.ts';

type Write = readonly [key: string, act: () => Promise<void>];

const MAX_UNSAVED = 100_000;

const keyOf = (binding: { readonly username: string; readonly contactUri: string }): string =>
  `${binding.username} ${binding.contactUri}`;

/** Answers the user agent's queries about users and bindings from directory and store. */
export class UserDirectory {
  readonly #directory: EndpointDirectory;
  readonly #bindings: BindingStore;
  readonly #logger: Logger;
  readonly #dispatch: (input: UserAgentInput) => void;
  /** Failed writes by their subject. */
  readonly #unsaved = new Map<string, Write[1]>();
  /** Last write of each subject that has not ended. */
  readonly #pending = new Map<string, Write[1]>();

  constructor(
    directory: EndpointDirectory,
    bindings: BindingStore,
    logger: Logger,
    dispatch: (input: UserAgentInput) => void,
  ) {
    this.#directory = directory;
    this.#bindings = bindings;
    this.#logger = logger;
    this.#dispatch = dispatch;
  }

  find({ id, username, token }: Extract<UserAgentOutput, { kind: 'findSecret' }>): void {
    const found =
      token === undefined
        ? this.#directory.byUsername(username)
        : (this.#directory.byToken?.(token) ?? Promise.resolve(undefined));
    found.then(
      (endpoint) => {
        const secrets = endpoint && {
          MD5: endpoint.secrets.md5,
          'SHA-256': endpoint.secrets.sha256,
          'SHA-512-256': endpoint.secrets.sha512256,
          inactive: !endpoint.active,
          login: endpoint.login,
          group: endpoint.accountId,
        };
        this.#dispatch({ kind: 'secret', id, secrets });
      },
      (error: unknown) => {
        this.#logger.error({ error }, 'endpoint directory failed');
        this.#dispatch({ kind: 'secret', id, secrets: 'unavailable' });
      },
    );
  }

  /** Stores a binding. A phone stays registered if the store fails; failed writes are retried with later ones. */
  store({ id, save, remove }: Extract<UserAgentOutput, { kind: 'store' }>): void {
    const earlier = [...this.#unsaved];
    const own: readonly Write[] = [
      ...save.map((binding) => [keyOf(binding), () => this.#bindings.save(binding)] as const),
      ...remove.map(
        (gone) =>
          [keyOf(gone), () => this.#bindings.remove(gone.username, gone.contactUri)] as const,
      ),
    ];
    // The store processes requests in order, so earlier writes go first and newer ones replace them.
    for (const write of earlier) void this.#write(write);
    void Promise.all(own.map((write) => this.#write(write))).then((done) => {
      this.#stored(id, done.every(Boolean));
    });
  }

  /** Returns false if the write is lost. Writes that failed because of the environment are kept for a retry. */
  async #write(write: Write): Promise<boolean> {
    const [key, act] = write;
    this.#unsaved.delete(key);
    this.#pending.set(key, act);
    try {
      await act();
      return true;
    } catch (error) {
      // A newer write of the contact replaces this one, even if it ended first.
      const isLatest = this.#pending.get(key) === act;
      const isRetained = error instanceof ServiceError && this.#unsaved.size < MAX_UNSAVED;
      if (isRetained && isLatest) this.#unsaved.set(key, act);
      this.#logger.error({ error, isRetained }, 'binding could not be stored');
      return isRetained;
    } finally {
      if (this.#pending.get(key) === act) this.#pending.delete(key);
    }
  }

  #stored(id: number | undefined, ok: boolean): void {
    if (id !== undefined) this.#dispatch({ kind: 'stored', id, ok });
  }
}
