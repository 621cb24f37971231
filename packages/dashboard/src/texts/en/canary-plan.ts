// Sentences about fields in the plan of a canary. The deployment keeps its own until the canary is promoted.

export const canaryPlanTexts = {
  start:
    'Only the replicas of the canary get these fields. The deployment changes when you promote the canary.',
  abort: 'The replicas of the canary stop. The deployment keeps its fields.',
} as const
