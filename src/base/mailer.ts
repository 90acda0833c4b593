/** A plain-text e-mail. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends e-mails. */
export interface Mailer {
  /** Resolves when the mail was accepted for delivery. Rejects with ServiceError MAIL_FAILED. */
  send(mail: Mail): Promise<void>;
  close(): void;
}
