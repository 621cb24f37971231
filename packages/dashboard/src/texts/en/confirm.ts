// Texts of questions before a change.

export const confirmTexts = {
  typeName: (name: string) => `Type ${name} to confirm`,
  cancel: 'Cancel',
  changed: 'The plan has changed since it was shown, so nothing was done. Look at it again.',
} as const
