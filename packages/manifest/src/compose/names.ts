// Makes names of services, volumes, networks and secrets valid: lowercase letters, digits and hyphens, unique among the
// names of their kind.

import { isDeploymentName, RESERVED_NAMES, safeKey } from '@holdfast/core/admission'

const MOST_CHARACTERS = 63

export interface NamePool {
  /** A valid name that was not given out before. */
  claim(wanted: string): string
}

export function createNamePool(prefix: string): NamePool {
  const taken = new Set<string>(RESERVED_NAMES)
  return {
    claim(wanted) {
      const valid = validName(wanted, prefix)
      let name = valid
      for (let number = 2; taken.has(name); number += 1) name = withSuffix(valid, `-${number}`)
      taken.add(name)
      return name
    },
  }
}

function validName(wanted: string, prefix: string): string {
  // A name of the form of a credential would still be readable after the change of its letters.
  const safe = safeKey(wanted) === wanted ? wanted : ''
  const letters = trimmed(
    safe
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, MOST_CHARACTERS),
  )
  const name = /^[a-z]/.test(letters) ? letters : trimmed(`${prefix}-${letters}`.slice(0, MOST_CHARACTERS))
  return isDeploymentName(wanted) ? wanted : name
}

const trimmed = (text: string): string => text.replace(/^-+/, '').replace(/-+$/, '')

const withSuffix = (name: string, suffix: string): string =>
  `${trimmed(name.slice(0, MOST_CHARACTERS - suffix.length))}${suffix}`
