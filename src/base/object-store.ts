import type { Readable } from 'node:stream';

export interface ObjectPart {
  readonly body: Readable;
  /** Of the part, and of the whole object. */
  readonly bytes: number;
  readonly totalBytes: number;
}

/** Files kept elsewhere under keys such as `a/b.mp3`. Everything rejects with ServiceError OBJECTS_UNAVAILABLE when it cannot be reached. */
export interface ObjectStore {
  /** Replaces what is there; resolves when it is kept. `file`: an absolute path. */
  put(key: string, file: string): Promise<void>;
  /** The whole, or the bytes `first` to `last`, both included. Undefined: there is no such object. */
  get(
    key: string,
    range?: { readonly first: number; readonly last: number },
  ): Promise<ObjectPart | undefined>;
  /** Undefined: there is no such object. */
  size(key: string): Promise<number | undefined>;
  /** One that is not there is no fault. */
  remove(key: string): Promise<void>;
}
