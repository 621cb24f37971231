// Texts that the pages of jobs, volumes, networks, backups, residency and access share. They are loaded with these pages.

export const resourceTexts = {
  filter: 'Filter by name',
  noMatch: 'Nothing matches this filter.',
  anyNode: 'Any node',
  none: 'none',
  open: (name: string) => `Open ${name}`,
} as const
