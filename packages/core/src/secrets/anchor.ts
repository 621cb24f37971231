// The three forms of an anchor, SPEC 2.4: process, external, volume(<volume-id>).

const ANCHORED = /^volume\((vol_[0-9A-HJKMNP-TV-Z]{26})\)$/

export function isAnchor(text: string): boolean {
  return text === 'process' || text === 'external' || ANCHORED.test(text)
}

/** The id of the volume that the credential may never be made anew without; undefined of the other two forms. */
export function anchorVolume(anchor: string): string | undefined {
  return ANCHORED.exec(anchor)?.[1]
}
