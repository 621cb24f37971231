// Texts of dialogs and of questions before a change. They are loaded with the pages that ask.

export const dialogTexts = {
  close: 'Close',
  back: 'Back',
  seeFields: 'Not done. Correct the marked fields.',
  typeName: (name: string) => `Type ${name} to confirm`,
  wrongName: (name: string) => `Type the name ${name} exactly.`,
} as const
