// Texts about a revision that failed: what it changed, who stored it, and the way back.

export const failedRevisionTexts = {
  stored: 'Stored',
  changed: (author: string) => `by ${author}. It changed:`,
  rollBack: (revision: number) => `Roll back to revision ${revision}`,
  logs: 'Read the logs',
} as const
