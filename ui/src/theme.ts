/** The button that switches between a light and a dark page; without a choice, the system decides. */
export function startTheme(): void {
  const root = document.documentElement;
  const button = document.getElementById("theme") as HTMLButtonElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = localStorage.getItem("theme");
  if (stored === "dark" || stored === "light") root.dataset["theme"] = stored;
  const dark = (): boolean => (root.dataset["theme"] ? root.dataset["theme"] === "dark" : system.matches);
  const name = (): void => void (button.textContent = dark() ? "Light" : "Dark");
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset["theme"] = dark() ? "light" : "dark";
    localStorage.setItem("theme", root.dataset["theme"]);
    name();
  });
  system.addEventListener("change", name);
  name();
}
