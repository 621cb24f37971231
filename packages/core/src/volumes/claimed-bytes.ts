// The bytes of a pool that a copy of a volume claims. They are also the limit that the agent sets on the copy.

/**
 * Copy-on-write keeps overwritten extents until the whole extent is unused, so a volume that is rewritten in small blocks
 * needs more than its size.
 */
const CLAIM_FACTOR = 2

export const claimedBytes = (sizeBytes: number): number => CLAIM_FACTOR * sizeBytes

/** The size of the volume to which a limit belongs. */
export const sizeOfClaim = (limitBytes: number): number => Math.floor(limitBytes / CLAIM_FACTOR)
