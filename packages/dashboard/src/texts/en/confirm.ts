// Texts of questions before a change.

export const confirmTexts = {
  typeName: (name: string) => `Type ${name} to confirm`,
  cancel: 'Cancel',
} as const
