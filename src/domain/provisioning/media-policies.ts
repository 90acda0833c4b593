import { err, ok, type Result } from '../../base/result.ts';
import {
  type CodecPreference,
  isCodecPreference,
  type SrtpPolicy,
} from '../../protocol/sdp/sdp.ts';

/** Media policy of one subject. An absent field is decided by the next subject in order: see `MediaPolicies.of`. */
export interface MediaPolicy {
  readonly srtp?: SrtpPolicy | undefined;
  /** Codecs in order of preference. A peer's offer is answered in the peer's order among these. */
  readonly codecs?: readonly CodecPreference[] | undefined;
}

export const POLICY_SUBJECTS = ['account', 'endpoint', 'trunk', 'carrier'] as const;
export type PolicySubject = (typeof POLICY_SUBJECTS)[number];
export const SRTP_POLICIES = ['off', 'optional', 'required'] as const;

/** Policy of an account (`auth_id`), endpoint (user name), trunk (ID) or carrier (name). */
export interface NamedPolicy extends MediaPolicy {
  readonly subject: PolicySubject;
  readonly name: string;
}

/** Subjects that take part in a leg. */
export type PolicyParties = Readonly<Partial<Record<PolicySubject, string | undefined>>>;

export type PolicyRefusal =
  | { readonly kind: 'tooManyPolicies' }
  | { readonly kind: 'unknownPolicy' };

/** Stores all policies as one value. */
export interface PolicyStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}

const KEY = 'media.policies';
const MOST = 5000;

/** Codec and SRTP policies of accounts, endpoints, trunks and carriers that differ from the settings. */
export class MediaPolicies {
  readonly #store: PolicyStore;
  #known: ReadonlyMap<string, NamedPolicy> = new Map();
  /** The last load or change. The next one waits for it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: PolicyStore) {
    this.#store = store;
  }

  /** Loads the stored policies. Runs before the first call and after another node changed policies. */
  load(): Promise<void> {
    return this.#inTurn(async () => {
      this.#known = await this.#stored();
    });
  }

  list(): readonly NamedPolicy[] {
    return [...this.#known.values()];
  }

  /** Sets a policy. It takes effect with the next call. */
  set(policy: NamedPolicy): Promise<Result<void, PolicyRefusal>> {
    const key = keyOf(policy);
    return this.#change((known) => {
      if (!known.has(key) && known.size >= MOST) return { kind: 'tooManyPolicies' };
      known.set(key, policy);
      return undefined;
    });
  }

  remove(subject: PolicySubject, name: string): Promise<Result<void, PolicyRefusal>> {
    return this.#change((known) =>
      known.delete(keyOf({ subject, name })) ? undefined : { kind: 'unknownPolicy' },
    );
  }

  /** Returns the policy of a leg. Each field is decided by the endpoint, else the trunk, the carrier, the account. */
  of(parties: PolicyParties): MediaPolicy {
    if (this.#known.size === 0) return {};
    const found = (['endpoint', 'trunk', 'carrier', 'account'] as const).flatMap((subject) => {
      const name = parties[subject];
      const policy = name === undefined ? undefined : this.#known.get(keyOf({ subject, name }));
      return policy ?? [];
    });
    return {
      srtp: found.find(({ srtp }) => srtp !== undefined)?.srtp,
      codecs: found.find(({ codecs }) => codecs !== undefined)?.codecs,
    };
  }

  /** Changes the stored policies, which another node may have changed. No effect if they cannot be stored. */
  #change(
    change: (known: Map<string, NamedPolicy>) => PolicyRefusal | undefined,
  ): Promise<Result<void, PolicyRefusal>> {
    return this.#inTurn(async () => {
      const known = await this.#stored();
      const refusal = change(known);
      if (refusal !== undefined) return err(refusal);
      await this.#store.set(KEY, JSON.stringify([...known.values()]));
      this.#known = known;
      return ok(undefined);
    });
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #stored(): Promise<Map<string, NamedPolicy>> {
    const stored: unknown = JSON.parse((await this.#store.get(KEY)) ?? '[]');
    const known = new Map<string, NamedPolicy>();
    for (const policy of Array.isArray(stored) ? stored : []) {
      const read = readPolicy(policy);
      if (read !== undefined) known.set(keyOf(read), read);
    }
    return known;
  }
}

const keyOf = ({ subject, name }: Pick<NamedPolicy, 'subject' | 'name'>): string =>
  `${subject} ${name}`;

function readPolicy(value: unknown): NamedPolicy | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { subject, name, srtp, codecs } = value as Readonly<Record<string, unknown>>;
  const known = POLICY_SUBJECTS.find((each) => each === subject);
  if (known === undefined || typeof name !== 'string') return undefined;
  return {
    subject: known,
    name,
    srtp: SRTP_POLICIES.find((each) => each === srtp),
    codecs: Array.isArray(codecs) ? codecs.map(String).filter(isCodecPreference) : undefined,
  };
}
