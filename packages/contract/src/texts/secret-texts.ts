// The texts of the entries of `secrets` in a deployment, of secret writes and of rotations.

import type { FieldTexts } from '../shapes/shape.ts'

/** States who sees secret values, for the page of roles, the field `secrets` and the help of commands. */
export const SECRET_READERS =
  'The API returns no secret value to any role. A person who may run commands in a container sees the secret values of that container, and a program that prints its environment writes them to its log.'

export const generateTexts = {
  keys: {
    meaning: 'The keys to generate a value for. No response contains generated values.',
    range: 'at least one key of letters, digits and "_", first not a digit, each once',
    example: ['password'],
  },
  bytes: {
    meaning:
      'The number of random bytes of each value, encoded as text by encoding. Choose bytes and encoding, or length and charset, not both.',
    default: 32,
    range:
      'a whole number of at least {generateBytesMin}; encoded at most {generateEncodedCharacters} characters',
    example: 32,
  },
  encoding: {
    meaning: 'The text form of the random bytes. base64 has characters that must be encoded in a URL.',
    default: 'base64url' as const,
    range: 'hex, base64 or base64url',
    example: 'hex',
  },
  length: {
    meaning: 'The number of random characters of each value, used with charset.',
    default: 32,
    range:
      'a whole number of at most {generateLengthMax}, long enough for {generateEntropyBits} bits: 22 characters of alphanumeric',
    example: 32,
  },
  charset: {
    meaning:
      'The alphabet of the random characters. alphanumeric: letters and digits. urlsafe: also "-", ".", "_" and "~". ascii: every printable character except the space.',
    default: 'alphanumeric' as const,
    range: 'alphanumeric, urlsafe or ascii',
    example: 'alphanumeric',
  },
} satisfies FieldTexts

export const materialTexts = {
  values: {
    meaning:
      'The secret values, by key. They go to the secrets store only: no record, response or log holds them. A write replaces the whole document, so send every key; a PATCH of the secret adds or changes keys and keeps the others.',
    absent: 'no values are sent',
    range:
      'at least one key; each value 1 to {secretValueBytes} bytes, all together at most {secretDocumentBytes} bytes',
    example: { password: 'correct-horse' },
  },
  generate: {
    meaning: 'Values that the server generates. No response contains them.',
    absent: 'nothing is generated',
    range: 'an object with keys, and either bytes and encoding or length and charset',
    example: { keys: ['password'] },
  },
} satisfies FieldTexts

export const secretEntryTexts = {
  name: {
    meaning:
      'The prefix of the environment variables: with the name DB, the key password is delivered as DB_password. To choose the variable name freely, use composedEnvironment.',
    range: 'letters, digits and "_", once in the list',
    example: 'DB',
  },
  vault_path: {
    meaning:
      'Which secret: its namespace and its label, as holdfast secret set writes it. Several deployments may refer to one secret.',
    range:
      'namespace/label: a namespace that the platform grants, then lowercase letters, digits and inner hyphens, 1 to 63 characters',
    example: 'deployments/web',
  },
  anchor: {
    meaning:
      'States who else depends on the value, which decides when a new version may be used. process: nothing outside the container. external: a system outside the platform knows the value, such as a database or a partner. volume(vol_...): data on that volume is unreadable without it, so only a rotation changes the version.',
    default: 'external',
    range: 'process, external or volume() around the id of a mounted volume',
    example: 'process',
  },
  rotation: {
    meaning:
      'How containers get a new value. restart: they are recreated, one after another. holdfast secret rotate NAME PHASE performs a rotation.',
    default: 'restart',
    range: 'restart',
    example: 'restart',
  },
  mount_path: {
    meaning: 'Always rejected. Secrets are delivered as environment variables only, never as files.',
    absent: 'secrets are delivered as variables',
    range: 'nothing is accepted; leave the field out',
    example: null,
  },
  values: {
    ...materialTexts.values,
    meaning:
      'Writes these secret values before the deployment is stored, by key. They go to the secrets store only: no record, response or log holds them. Requires a token that may write secrets.',
    absent: 'the secret is used as it is stored',
  },
  generate: {
    ...materialTexts.generate,
    meaning:
      'Values that the server generates, if the secret has no version yet. No response contains them. Requires a token that may write secrets.',
  },
} satisfies FieldTexts

export const rotateTexts = {
  phase: {
    meaning:
      'The step of the rotation. All four steps from stage to retire are needed, in this order. stage writes a new version that no container uses. overlap states that the outside system accepts both versions. cutover recreates the containers with the new version. retire destroys the old version. abort returns to the old version and is possible until retire.',
    range: 'stage, overlap, cutover or retire, in this order; abort instead of the next step',
    example: 'stage',
  },
  secret: {
    meaning: 'The name of the entry in secrets whose credential is rotated.',
    absent: 'every credential of the deployment is rotated',
    range: 'the name of an entry in secrets of the deployment',
    example: 'DB',
  },
  values: {
    ...materialTexts.values,
    meaning:
      'The values of the new version, by key, sent with stage. They go to the secrets store only: no record, response or log holds them.',
  },
  generate: {
    ...materialTexts.generate,
    meaning:
      'Values of the new version that the server generates, sent with stage. No response contains them.',
  },
} satisfies FieldTexts
