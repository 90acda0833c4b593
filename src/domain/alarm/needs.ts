/** Small texts that are kept by name. */
export interface CountryStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}
