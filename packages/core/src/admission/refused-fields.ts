/** Fields that have a shape only so that a rule can refuse them with a code of their own: nobody is told to send them. */
export const REFUSED_FIELDS: ReadonlySet<string> = new Set(['secrets[*].mount_path'])
