// Describes for whom the platform carries out a rotation. After the request that started a cutover or an abort, the platform
// moves the other consumers on its own, also after the token of that request was revoked: a rotation that stops half-way would leave
// consumers with two versions of a credential. Events and audit entries therefore name the platform and the starter.

export interface RotationStarter {
  readonly token: string
  /** The name of the token at the request; absent for rotations that an older server started. */
  readonly name?: string | undefined
}

export interface StarterText {
  /** The end of the sentence about a consumer that the platform moved. */
  readonly sentence: string
  readonly detail: { [name: string]: string }
}

/** `stored` is the record of the token now; undefined if the token was revoked. */
export function describeStarter(
  { token, name }: RotationStarter,
  stored: { readonly expiresAt: string } | undefined,
  now: number,
): StarterText {
  const state = stateOf(stored, now)
  const known = name === undefined ? token : `${name} (${token})`
  const ended = state === 'valid' ? '' : ENDED[state]
  return {
    sentence: `The platform carried out the rotation that token ${known} started.${ended}`,
    detail: {
      carriedOutBy: 'platform',
      startedBy: known,
      ...(state === 'valid' ? {} : { tokenState: state }),
    },
  }
}

const ENDED = {
  revoked: ' That token was revoked since; the rotation continues unless it is aborted.',
  expired: ' That token expired since; the rotation continues unless it is aborted.',
}

function stateOf(
  stored: { readonly expiresAt: string } | undefined,
  now: number,
): 'valid' | 'revoked' | 'expired' {
  if (stored === undefined) return 'revoked'
  return Date.parse(stored.expiresAt) > now ? 'valid' : 'expired'
}
