// The three forms of a secret's anchor, which names what depends on the secret: process, external, volume(<volume-id>).

const ANCHORED = /^volume\((vol_[0-9A-HJKMNP-TV-Z]{26})\)$/

export function isAnchor(text: string): boolean {
  return text === 'process' || text === 'external' || ANCHORED.test(text)
}

/** The id of the volume whose data depends on the credential; undefined for an anchor of another form. */
export function anchorVolume(anchor: string): string | undefined {
  return ANCHORED.exec(anchor)?.[1]
}
