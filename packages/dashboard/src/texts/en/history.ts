// Texts of the revisions of a deployment.

export const historyTexts = {
  title: 'Revisions',
  note: 'the newest first, each compared with the one before',
  marks: {
    latest: 'latest',
    running: 'running now',
    lastGood: 'last good',
    failed: 'failed',
  },
  markHints: {
    latest: 'The manifest that is stored now.',
    running: 'The containers run this revision.',
    lastGood: 'The newest revision that passed its rollout. A failed update returns to it.',
    failed: 'The rollout of this revision failed.',
  },
  oldest: 'The oldest revision that is kept.',
  unchanged: 'No field changed: it was stored again, for example by a restart.',
  rollBack: (revision: number) => `Roll back to revision ${revision}`,
  compare: 'Compare two revisions',
  from: 'From revision',
  to: 'To revision',
  same: 'These two revisions have the same fields.',
} as const
