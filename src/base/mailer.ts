/** A mail to be sent; plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Hands mails to whoever delivers them. */
export interface Mailer {
  /** Resolves when the mail was taken; rejects with ServiceError MAIL_FAILED. */
  send(mail: Mail): Promise<void>;
  close(): void;
}
