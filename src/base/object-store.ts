import type { Readable } from 'node:stream';

interface ObjectPart {
  readonly body: Readable;
  /** Size of the part, and of the whole object, in bytes. */
  readonly bytes: number;
  readonly totalBytes: number;
}

/** Object storage with keys such as `a/b.mp3`. All methods reject with ServiceError OBJECTS_UNAVAILABLE if it is unreachable. */
export interface ObjectStore {
  /** Stores an object, replacing an existing one. Resolves when it is durable. `file` is an absolute path. */
  put(key: string, file: string): Promise<void>;
  /** Returns an object, or the bytes `first` to `last` inclusive. Undefined if it does not exist. */
  get(
    key: string,
    range?: { readonly first: number; readonly last: number },
  ): Promise<ObjectPart | undefined>;
  /** Returns the size in bytes. Undefined if the object does not exist. */
  size(key: string): Promise<number | undefined>;
  /** Deletes an object. A missing object is not an error. */
  remove(key: string): Promise<void>;
}
