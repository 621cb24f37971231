// Texts that the pages of jobs, volumes, networks, backups, residency and access share. They are loaded with these pages.

export const resourceTexts = {
  close: 'Close',
  back: 'Back',
  filter: 'Filter by name',
  noMatch: 'Nothing matches this filter.',
  seeFields: 'Not done. Correct the marked fields.',
  changed: 'The effects have changed since you read them. Nothing was done; look again.',
  typeName: (name: string) => `Type ${name} to confirm`,
  anyNode: 'Any node',
  none: 'none',
  change: (from: string, to: string) => `${from} → ${to}`,
  open: (name: string) => `Open ${name}`,
} as const
