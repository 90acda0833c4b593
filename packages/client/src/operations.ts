/** Input and output types of operations by method and path. */
import type { FileReply, Operations } from './api.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type Name = keyof Operations;
type PathIn<N extends Name, M extends Method> = N extends `${M} ${infer P}` ? P : never;
/** Paths that support the method. */
export type PathOf<M extends Method> = PathIn<Name, M>;
type Operation<M extends Method, P extends string> = `${M} ${P}` extends Name
  ? Operations[`${M} ${P}`]
  : never;

/** A part of the input; optional if all its members are optional. */
type Part<K extends string, T> =
  Record<string, never> extends T ? { readonly [Key in K]?: T } : { readonly [Key in K]: T };
/** Path parameters. The client fills in `auth_id` automatically. */
type PathPart<P extends string, T> = P extends `/admin/${string}`
  ? Part<'path', T>
  : Part<'path', Omit<T, 'auth_id'> & { auth_id?: string }>;

export type Input<M extends Method, P extends string> = (Operation<M, P> extends { path: infer T }
  ? PathPart<P, T>
  : unknown) &
  (Operation<M, P> extends { query: infer T } ? { readonly query: T } : unknown) &
  (Operation<M, P> extends { query?: infer T } ? { readonly query?: T } : unknown) &
  (Operation<M, P> extends { body: infer T } ? { readonly body: T } : unknown) &
  (Operation<M, P> extends { body?: infer T } ? { readonly body?: T } : unknown);

export type Reply<M extends Method, P extends string> =
  Operation<M, P> extends { reply: infer T } ? (T extends FileReply ? never : T) : never;

/** Argument list of an operation; the input is optional if all its parts are. */
export type Arguments<T> = Record<string, never> extends T ? [input?: T] : [input: T];
