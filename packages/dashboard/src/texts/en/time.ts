// Texts of time travel: the time slider, the time field, and pages that show the past.

export const timeTexts = {
  title: 'Time',
  slider: 'Decisions about this deployment, from the oldest to now',
  stop: (time: string, phase: string, revision: number) => `${time}, ${phase}, revision ${revision}`,
  now: 'now',
  scale: 'One mark per decision, not to scale.',
  field: 'Show the past: at',
  hint: 'A time: 14:05, or 2h',
  listNote: 'choose one to see the deployment as it was',
  past: (time: string) => `As it was ${time}. Nothing can be changed here.`,
  noDecision: 'No decision of this time is kept.',
  noEvents: 'No event before this time is kept.',
  noRevisions: 'No revision of this time is kept.',
  onlyNow: (page: string) => `${page} shows the present only`,
}
