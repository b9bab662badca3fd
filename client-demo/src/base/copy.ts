/** Puts a text into the clipboard. Resolves with false where the browser does not allow it. */
export async function copy(text: string): Promise<boolean> {
  // Absent on pages that are neither https nor localhost, whatever its type says.
  const clipboard: Clipboard | undefined = navigator.clipboard;
  try {
    await clipboard?.writeText(text);
    return clipboard !== undefined;
  } catch {
    return false;
  }
}
