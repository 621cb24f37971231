// What makes a node report where it stands: a line in its agent's configuration where its join token attested that, and
// another enrolment where it did not, since nothing else is believed of it. SPEC 2.7, SAFETY 2 row 14.

export interface WantedLabel {
  readonly label: string
  readonly value: string
  readonly attested: string | undefined
}

export function fixOfLabel(nodeName: string, { label, value, attested }: WantedLabel): string {
  if (attested === value)
    return `Set the label ${label} to ${JSON.stringify(value)} in the configuration of the agent on ${nodeName}`
  const token = attested === undefined ? 'none' : JSON.stringify(attested)
  return `Enrol a node whose join token attests ${label} ${JSON.stringify(value)} (that of ${nodeName} attests ${token})`
}
