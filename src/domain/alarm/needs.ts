/** Stores small texts by key. */
export interface CountryStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}
