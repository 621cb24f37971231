// Text patterns that several admission rules share. Each pattern is anchored, has no nested quantifier and is used only
// after a length check.

const NAME = /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/
const ENVIRONMENT_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/
const LABEL_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/
const LABEL_PREFIX = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/
const COUNTRY = /^[A-Z]{2}$/
const LABEL_VALUE = /^[\x20-\x7e]*$/
const PATH_ELEMENT = /^[^/\p{Cc}]+$/u

const NAME_CHARACTERS = 63
const LABEL_NAME_CHARACTERS = 63
const LABEL_PREFIX_CHARACTERS = 253
const LABEL_VALUE_CHARACTERS = 253
const TARGET_CHARACTERS = 1024

/** Whether a deployment name has only allowed characters. Another rule checks the length. */
export function hasNameCharacters(text: string): boolean {
  return NAME.test(text)
}

export function isDeploymentName(text: string): boolean {
  return text.length <= NAME_CHARACTERS && NAME.test(text)
}

export function isEnvironmentKey(text: string): boolean {
  return ENVIRONMENT_KEY.test(text)
}

/** Whether a text is a label key: `name` or `prefix/name`, in ASCII, because labels appear in logs and terminals. */
export function isLabelKey(text: string): boolean {
  if (text.length > LABEL_PREFIX_CHARACTERS + 1 + LABEL_NAME_CHARACTERS) return false
  const slash = text.indexOf('/')
  const name = text.slice(slash + 1)
  if (name.length > LABEL_NAME_CHARACTERS || !LABEL_NAME.test(name)) return false
  return slash === -1 || (slash <= LABEL_PREFIX_CHARACTERS && LABEL_PREFIX.test(text.slice(0, slash)))
}

/** Whether a value has the form of an ISO 3166-1 alpha-2 country code. */
export function isCountry(value: unknown): boolean {
  return typeof value === 'string' && COUNTRY.test(value)
}

/** Whether a text is a label value: printable ASCII, possibly empty. */
export function isLabelValue(text: string): boolean {
  return text.length <= LABEL_VALUE_CHARACTERS && LABEL_VALUE.test(text)
}

/** Whether a path inside a container can be the target of a mount: absolute, normal and not the root. */
export function isMountTarget(path: string): boolean {
  if (path.length > TARGET_CHARACTERS || !path.startsWith('/')) return false
  const elements = path.slice(1).split('/')
  return elements.every((element) => PATH_ELEMENT.test(element) && element !== '.' && element !== '..')
}
