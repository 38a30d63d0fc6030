"""Tasks, and the batched and single environments that play them."""
