// What makes a node report where it stands: a line in its agent's configuration where its join token attested that, and
// another enrollment where it did not, since nothing else is believed of it. SPEC 2.7, SAFETY 2 row 14.

interface WantedLabel {
  readonly label: string
  readonly value: string
  readonly attested: string | undefined
}

/** The same of all nodes of which the same is attested, but for the name. */
export function fixOfLabel(
  { label, value, attested }: WantedLabel,
  demand: string,
): (nodeName: string) => string {
  const ending = `, or change ${demand}.`
  if (attested === value) {
    const set = `Set the label ${label} to ${JSON.stringify(value)} in the configuration of the agent on `
    return (nodeName) => `${set}${nodeName}${ending}`
  }
  const token = attested === undefined ? 'none' : JSON.stringify(attested)
  const enroll = `Enroll a node whose join token attests ${label} ${JSON.stringify(value)} (that of `
  const attests = ` attests ${token})${ending}`
  return (nodeName) => `${enroll}${nodeName}${attests}`
}
