// The author of a change, as people read it. The server knows tokens, not persons, so the name is shown as that of a token.

/** `id`: the id of the token, for entries of before tokens had names. */
export const tokenText = (name: string | undefined, id: string): string => `token ${name ?? id}`
