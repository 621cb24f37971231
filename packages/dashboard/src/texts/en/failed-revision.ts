// Texts about a revision that failed: what it changed, who stored it, and where to look.

export const failedRevisionTexts = {
  stored: 'Stored',
  changed: (author: string) => `by ${author}. It changed:`,
  logs: 'Read the logs',
} as const
